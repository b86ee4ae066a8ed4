/** C67 (h): an error limit that means nothing is refused, naming the option. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { assertAccepted, assertRefused, jobText } from '../unit/config/support.js';

const limit = (json: string): string => jobText({ setting: `"errorLimit": ${json}` });

for (const bad of ['-1', '101', '"5%"']) {
  test(`C67 (h) percentage ${bad}`, async () => {
    await assertRefused(limit(`{"percentage": ${bad}}`), [
      `job.json:15:46: error: job.setting.errorLimit.percentage: is ${bad}; must be a number from 0 to 100 (percent)`,
    ]);
  });
}

test('C67 only the limits that are given are checked; none given allows no dirty row', async () => {
  const settings = async (text: string) => (await assertAccepted(text)).job.settings.errorLimit;
  assert.deepEqual(await settings(jobText()), { record: 0, percentage: null });
  assert.deepEqual(await settings(limit('{}')), { record: 0, percentage: null });
  assert.deepEqual(await settings(limit('{"percentage": "30"}')), { record: null, percentage: 30 });
  assert.deepEqual(await settings(limit('{"record": 3}')), { record: 3, percentage: null });
  assert.deepEqual(await settings(limit('{"record": 100, "percentage": 1}')), { record: 100, percentage: 1 });
});

test('C67 a percentage below 1 may be meant as the fraction of DataX, and is told', async () => {
  for (const [value, percent] of [
    ['0.3', '30'],
    ['0.07', '7'],
    ['0.001', '0.1'],
  ] as const) {
    const { job } = await assertAccepted(jobText({ setting: `"errorLimit": {"percentage": ${value}}` }), [
      `job.json:15:46: warning: job.setting.errorLimit.percentage: is ${value} percent of the rows; in DataX it is a fraction: where ${percent} percent are meant, write ${percent}`,
    ]);
    assert.equal(job.settings.errorLimit.percentage, Number(value));
  }
  await assertAccepted(jobText({ setting: '"errorLimit": {"percentage": 0}' }));
});
