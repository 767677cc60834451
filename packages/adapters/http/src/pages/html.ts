import { escapeHtml } from '@parley/domain/kernel';

/** Template content: markup, or text to escape. False and null render nothing. */
export type Content = Html | string | number | false | null | readonly Content[];

/** Trusted markup, created only by `html` templates. */
export class Html {
  private constructor(readonly markup: string) {}

  /**
   * Template tag. Place values only in text or double-quoted attributes, never in tag or attribute names, scripts or
   * styles.
   */
  static readonly template = (texts: TemplateStringsArray, ...values: readonly Content[]): Html =>
    new Html(texts.reduce((markup, text, index) => markup + markupOf(values[index - 1]!) + text));

  static readonly join = (pieces: readonly Content[]): Html => new Html(markupOf(pieces));
}

export const html = Html.template;

function markupOf(content: Content): string {
  if (content === null || content === false) return '';
  if (content instanceof Html) return content.markup;
  if (typeof content === 'object') return content.map(markupOf).join('');
  return escapeHtml(String(content));
}
