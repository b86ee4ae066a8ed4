import assert from 'node:assert/strict';
import { test } from 'node:test';
import { firstWord, isPlainDml, splitSql } from '../write/split-sql.js';

const CASES: readonly (readonly [text: string, statements: readonly string[]])[] = [
  ['delete from t', ['delete from t']],
  [' delete from t ; ', ['delete from t']],
  ['a; b;;  ;c', ['a', 'b', 'c']],
  ["insert into t values ('a;b'); select 1", ["insert into t values ('a;b')", 'select 1']],
  ["insert into t values ('it''s;'); x", ["insert into t values ('it''s;')", 'x']],
  ["insert into t values ('a\\';b'); x", ["insert into t values ('a\\';b')", 'x']],
  ["insert into t values ('\\\\'); x", ["insert into t values ('\\\\')", 'x']],
  ['insert into t values ("a;""b"); x', ['insert into t values ("a;""b")', 'x']],
  ['delete from `a;b`; x', ['delete from `a;b`', 'x']],
  ['delete from `a``;\\`; x', ['delete from `a``;\\`', 'x']],
  ['a -- one; two\n; b', ['a -- one; two', 'b']],
  ['a # one; two\n; b', ['a # one; two', 'b']],
  ['a--1; b', ['a--1', 'b']],
  ['a --\n; b', ['a --', 'b']],
  ["a /* ; ' */; b", ["a /* ; ' */", 'b']],
  ['/* only; a comment */; -- and another\n', []],
  ['/*!40101 set names utf8 */; b', ['/*!40101 set names utf8 */', 'b']],
  ['/*M!100100 set x = 1; */; b', ['/*M!100100 set x = 1; */', 'b']],
  ['', []],
  [
    'create trigger tr before insert on t for each row begin set new.a = 1; set new.b = 2; end;',
    ['create trigger tr before insert on t for each row begin set new.a = 1; set new.b = 2; end'],
  ],
];

test('SQL is cut where statements end', () => {
  for (const [text, statements] of CASES) assert.deepEqual(splitSql(text), statements, text);
});

test('what never closes is told, with its place', () => {
  assert.equal(splitSql("a; 'b"), "a ' opens at character 4 and never closes");
  assert.equal(splitSql('a `b'), 'a ` opens at character 3 and never closes');
  assert.equal(splitSql('a /* b'), 'a comment opens at character 3 and never closes');
});

test('statements that end a transaction are known by their first word, behind any comments', () => {
  assert.equal(firstWord('  /* x */ -- y\n # z\n DELETE from t'), 'delete');
  assert.equal(firstWord('/*!40000 alter table t disable keys */'), 'alter');
  assert.deepEqual(
    ['insert into t values (1)', 'Update t set a=1', 'truncate t', '/* a */ drop table t', '(select 1)', 'commit'].map(
      isPlainDml,
    ),
    [true, true, false, false, false, false],
  );
});
