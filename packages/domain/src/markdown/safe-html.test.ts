import { isSafeHtml, safeHtml } from './safe-html.js';

it('safeHtml converts unsafe message HTML to plain text', async () => {
  expect(safeHtml('<p>a</p>', 'a')).toBe('<p>a</p>');
  expect(safeHtml('<img src="x" onerror="alert(1)">', '<b>')).toBe('<p>&lt;b&gt;</p>');
  const formula =
    '<span class="vlist" style="height:0.8141em; position:relative;border-color:#cc0000;margin-right:-0.5em;">';
  expect(isSafeHtml(formula)).toBe(true);
  for (const bad of [
    '<script>',
    '<a href="javascript:alert(1)">',
    '<a href="java&#115;cript:x">',
    "<p class='a'>",
    '<p',
    '<iframe>',
    '<p style="position:fixed">',
    '<p style="position:/**/fixed">',
    '<p style="position: absolute; top: 0">',
    '<p style="background:image-set(\'//x\' 1x)">',
    '<p style="color:red;x">',
    '<p style="content:attr(title)">',
  ]) {
    expect([bad, isSafeHtml(bad)]).toEqual([bad, false]);
  }
});

it('safeHtml omits previews of pages, with pictures of another server', () => {
  const preview = '<div class="message_embed"><a style="background-image: url(&quot;/x&quot;)"></a></div>';
  expect(safeHtml(`<p>a</p>\n${preview}`, 'a')).toBe('<p>a</p>');
});
