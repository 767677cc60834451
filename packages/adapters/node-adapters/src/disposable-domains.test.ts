import { workMsOf } from '@parley/testkit/process-usage';
import { ListedDisposableDomains } from './disposable-domains.js';

it('recognizes only known disposable domains', () => {
  const domains = new ListedDisposableDomains();
  expect(['mailinator.com', 'zulip.com', 'gmail.com', 'example.com', ''].map((one) => domains.has(one))).toEqual([
    true,
    false,
    false,
    false,
    false,
  ]);
});

it('checks the emails of a long invitation as fast as a single one', async () => {
  const domains = new ListedDisposableDomains();
  domains.has('');
  const ask = () => Array.from({ length: 1000 }, (_, n) => domains.has(`${n}.example.com`));
  expect(await workMsOf(ask, 10)).toBeLessThan(10);
});
