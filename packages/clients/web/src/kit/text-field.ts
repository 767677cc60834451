type TextField = HTMLTextAreaElement | HTMLInputElement;

/** Replaces the selection with a text as an undoable input event. The focus is unchanged, also within a shadow root. */
export function insertText(field: TextField, text: string): void {
  const { activeElement } = field.getRootNode() as Document | ShadowRoot;
  const before = activeElement ?? document.activeElement;
  if (before !== field) field.focus();
  document.execCommand(text === '' ? 'delete' : 'insertText', false, text);
  if (before === field) return;
  field.blur();
  if (before instanceof HTMLElement) before.focus();
}

/** Replaces the whole text; can be undone. */
export function replaceText(field: TextField, text: string): void {
  field.select();
  insertText(field, text);
}
