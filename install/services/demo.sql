-- Demo data: a shop's orders and customers, and tables to copy them to.
create table customers (
  id int unsigned not null auto_increment primary key,
  name varchar(60) not null,
  country char(2) not null
) engine=InnoDB;

create table orders (
  id bigint unsigned not null auto_increment primary key,
  customer int unsigned not null,
  amount decimal(12,2) not null,
  status enum('new','paid','sent') not null,
  note varchar(80),
  updated_at datetime(6) not null,
  key (updated_at)
) engine=InnoDB;

create table orders_copy like orders;

create table countries (
  code char(2) not null primary key,
  name varchar(60) not null,
  capital varchar(80),
  population bigint
) engine=InnoDB;

insert into customers (name, country)
select concat('Customer ', seq), elt(1 + seq % 4, 'KE', 'CI', 'EG', 'ZA') from seq_1_to_200;

insert into orders (customer, amount, status, note, updated_at)
select 1 + seq % 200, seq * 1.37, elt(1 + seq % 3, 'new', 'paid', 'sent'), if(seq % 5 = 0, null, concat('Bestellung № ', seq)),
  date_add('2024-05-01', interval seq * 61000003 microsecond)
from seq_1_to_10000;
