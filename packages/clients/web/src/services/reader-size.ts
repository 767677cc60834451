/**
 * Returns a style sheet with the size of text that the reader chose in the browser. The page around the chat may have
 * changed the font size of `html`, but not the value of `medium`.
 */
export function readerSizeSheet(selector: string): CSSStyleSheet {
  const probe = document.createElement('div');
  probe.style.setProperty('font-size', 'medium', 'important');
  document.body.append(probe);
  const { fontSize } = getComputedStyle(probe);
  probe.remove();
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(`${selector}{--parley-reader-size:${fontSize}}`);
  return sheet;
}
