import { isInCode } from '@parley/chat';
import { insertText } from '../kit/text-field.js';

const ADDRESS = /^(?:https?:\/\/|mailto:)\S+$/i;

/** True from Shift+V, which pastes plain text although Firefox passes the formatted one, until the next key. */
let isPlain = false;

/** Called before keys that may paste. */
export function noteKey({ key, shiftKey }: { readonly key: string; readonly shiftKey: boolean }): void {
  isPlain = shiftKey && key.toLowerCase() === 'v';
}

/** Pastes formatted text as Markdown, and an address as the target of the selection. Returns false for other contents. */
export function pasteFormatted(field: HTMLTextAreaElement, clipboard: DataTransfer): boolean {
  const { value, selectionStart, selectionEnd } = field;
  if (isPlain || isInCode(value, selectionStart)) return false;
  const text = clipboard.getData('text/plain');
  const selected = value.slice(selectionStart, selectionEnd);
  if (ADDRESS.test(text.trim()) && isLabel(selected)) {
    insertText(field, `[${selected}](${text.trim().replaceAll('(', '%28').replaceAll(')', '%29')})`);
    return true;
  }
  const html = clipboard.getData('text/html');
  if (html === '') return false;
  const language = languageOf(clipboard.getData('vscode-editor-data'));
  import('./pasted-html.js').then(
    ({ pastedMarkdown }) => insertText(field, pastedMarkdown(html, language) ?? text),
    () => insertText(field, text),
  );
  return true;
}

/** True for text that can be the text of a link. */
const isLabel = (text: string): boolean => text.trim() !== '' && !/[[\]\n]/.test(text) && !ADDRESS.test(text.trim());

/** Language of the code that Visual Studio Code copied. */
function languageOf(data: string): string {
  const [, mode = ''] = /"mode":"([\w#+-]{1,50})"/.exec(data) ?? [];
  return mode === 'plaintext' ? '' : mode;
}
