import { isSafeHtml, safeHtml } from './safe-html.js';

it('HTML of messages that is not safe becomes plain text', async () => {
  expect(safeHtml('<p>a</p>', 'a')).toBe('<p>a</p>');
  expect(safeHtml('<img src="x" onerror="alert(1)">', '<b>')).toBe('<p>&lt;b&gt;</p>');
  for (const bad of [
    '<script>',
    '<a href="javascript:alert(1)">',
    '<a href="java&#115;cript:x">',
    "<p class='a'>",
    '<p',
    '<iframe>',
  ]) {
    expect([bad, isSafeHtml(bad)]).toEqual([bad, false]);
  }
});
