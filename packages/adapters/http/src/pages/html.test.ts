import { html } from './html.js';

describe('html template', () => {
  it('keeps its tags and escapes its values', () => {
    const name = `<b onclick="x">&'`;
    expect(html`<p title="${name}">${name}</p>`.markup).toBe(
      '<p title="&lt;b onclick=&quot;x&quot;&gt;&amp;&#x27;">&lt;b onclick=&quot;x&quot;&gt;&amp;&#x27;</p>',
    );
  });

  it('accepts templates, lists and numbers and omits null and false', () => {
    const items = ['a', '<'].map((item) => html`<li>${item}</li>`);
    expect(html`<ul>${items}</ul>${null}${false}${7}`.markup).toBe('<ul><li>a</li><li>&lt;</li></ul>7');
  });

  it.each([
    '<script>alert(1)</script>',
    '"><img src=x onerror=alert(1)>',
    "' onmouseover='alert(1)",
    '</title><svg/onload=alert(1)>',
    '<!--',
    ']]>',
    '&lt;b&gt;',
  ])('escapes %j as text', (text) => {
    const { markup } = html`<p title="${text}">${text}</p>`;
    const value = markup.slice('<p title="'.length, markup.indexOf('">'));
    expect(value).not.toMatch(/[<>"']/);
    expect(markup).toBe(`<p title="${value}">${value}</p>`);
  });
});
