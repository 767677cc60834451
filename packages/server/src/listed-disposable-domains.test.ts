import { ListedDisposableDomains } from './listed-disposable-domains.js';

it('recognizes known disposable domains and no others', () => {
  const domains = new ListedDisposableDomains();
  expect(['mailinator.com', 'zulip.com', 'gmail.com', 'example.com', ''].map((one) => domains.has(one))).toEqual([
    true,
    false,
    false,
    false,
    false,
  ]);
});
