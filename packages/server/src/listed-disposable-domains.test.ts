import { ListedDisposableDomains } from './listed-disposable-domains.js';

it('knows a service that everybody knows, and nobody else', () => {
  const domains = new ListedDisposableDomains();
  expect(['mailinator.com', 'zulip.com', 'gmail.com', 'example.com', ''].map((one) => domains.has(one))).toEqual([
    true,
    false,
    false,
    false,
    false,
  ]);
});
