import { escapeHtml } from '@parley/domain/kernel';

/** What may stand between the tags of a template: texts, which are escaped, and markup. False and null leave nothing. */
export type Content = Html | string | number | false | null | readonly Content[];

/** Markup whose tags were all written in a template here. The only way to it is `html`. */
export class Html {
  private constructor(readonly markup: string) {}

  /**
   * Only for use as the tag of a template. Values stand in text or in attributes between double quotes, never in names of tags or
   * attributes, scripts or styles.
   */
  static readonly template = (texts: TemplateStringsArray, ...values: readonly Content[]): Html =>
    new Html(texts.reduce((markup, text, index) => markup + markupOf(values[index - 1]!) + text));
}

export const html = Html.template;

function markupOf(content: Content): string {
  if (content === null || content === false) return '';
  if (content instanceof Html) return content.markup;
  if (typeof content === 'object') return content.map(markupOf).join('');
  return escapeHtml(String(content));
}
