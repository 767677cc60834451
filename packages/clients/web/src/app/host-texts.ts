import type { I18n } from '@lingui/core';
import type { HostTexts } from '../services/element-types.js';

/** Replaces texts in the current language. */
export function replaceTexts(i18n: I18n, texts: HostTexts): void {
  const compiled = Object.entries(texts).map(([english, text]) => [english, compile(text)]);
  i18n.load(i18n.locale, Object.fromEntries(compiled));
}

/** Compiles a message in Lingui's format: texts, and value names in lists. */
const compile = (text: string): (string | [string])[] =>
  text.split(/\{(\w+)\}/).map((part, index) => (index % 2 === 1 ? [part] : part));
