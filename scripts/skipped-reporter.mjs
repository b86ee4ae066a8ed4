// A reporter of Node's test runner: a line for each test that was skipped for want of a server (test/support/services.ts).
export default async function* skipped(events) {
  for await (const { type, data } of events) {
    if (type === 'test:pass' && String(data.skip ?? '').startsWith('no server: ')) yield `${data.name}\n`;
  }
}
