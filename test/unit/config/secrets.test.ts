import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { isSecretName, publicUrl, secretsOfUrl } from '../../../src/config/secrets.js';

describe('secrets in URLs', () => {
  for (const [url, shown, secret] of [
    ['mysql://root:a/b@h/d', 'mysql://root:***@h/d', 'a/b'],
    ['mysql://root:a#b@h:1/d?x=1', 'mysql://root:***@h:1/d?x=1', 'a#b'],
    ['mysql://root:a?b@h/d', 'mysql://root:***@h/d', 'a?b'],
    ['mysql://root:a@b@h/d?x=c@d', 'mysql://root:***@h/d?x=c@d', 'a@b'],
    ['mysql://root:12,3@h/d', 'mysql://root:***@h/d', '12,3'],
    ['jdbc:mysql://u:a1@h1,u:b2@h2/d', 'jdbc:mysql://u:***@h2/d', 'a1@h1,u:b2'],
    ['mysql://root:a%2Fb@h/d', 'mysql://root:***@h/d', 'a/b'],
    ['jdbc:oracle:thin:scott/a/b@//h:1521/x', 'jdbc:oracle:thin:scott/***@//h:1521/x', 'a/b'],
    ['jdbc:sqlserver://h;user=u;password={a;}};b};x=1', 'jdbc:sqlserver://h;user=u;password=***;x=1', 'a;}};b'],
    ['jdbc:postgresql://h/d?password=a;b#c&x=1', 'jdbc:postgresql://h/d?password=***&x=1', 'a;b#c'],
    ['jdbc:mysql://address=(host=h)(password=ab)/d', 'jdbc:mysql://address=(host=h)(password=***)/d', 'ab'],
    ['https://h/d?X-Amz-Signature=ab&sig=cd&x=1', 'https://h/d?X-Amz-Signature=***&sig=***&x=1', 'cd'],
    ['https://h/d?x=1#access_token=ab', 'https://h/d?x=1#access_token=***', 'ab'],
    ["host=h password='a b' user=u", 'host=h password=*** user=u', 'a b'],
    ['Password=ab;Server=h', 'Password=***;Server=h', 'ab'],
  ] as const) {
    test(url, () => {
      assert.equal(publicUrl(url), shown);
      assert.ok(secretsOfUrl(url).includes(secret), secretsOfUrl(url).join());
    });
  }

  test('URLs without secrets stay as they are', () => {
    for (const url of [
      'http://h:80/path?mail=a@b',
      'mongodb://h1:27017,h2:27017/d?x=a@b',
      'jdbc:postgresql://[::1]:5432/d?x=a@b',
      'jdbc:mysql://h/d?user=u&design=1&x=y',
      'jdbc:oracle:thin:@//h:1521/x',
    ]) {
      assert.equal(publicUrl(url), url);
      assert.deepEqual(secretsOfUrl(url), []);
    }
  });
});

test('properties of Kafka clients whose values are secret', () => {
  for (const name of ['sasl.jaas.config', 'ssl.key.password', 'ssl.keystore.key', 'ssl.truststore.password'])
    assert.ok(isSecretName(name), name);
  for (const name of ['ssl.keystore.location', 'ssl.keystore.type', 'bootstrap.servers', 'key.serializer'])
    assert.ok(!isSecretName(name), name);
});
