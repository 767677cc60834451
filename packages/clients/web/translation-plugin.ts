import { basename } from 'node:path';
import { compileMessage } from '@lingui/message-utils/compileMessage';
import PO from 'pofile';
import type { Plugin } from 'vite';
import { compiled } from './src/app/english.js';

/** Compiles translations (`*.po`) to modules. Omits English texts, which the page compiles from their ids. */
export const translations: Plugin = {
  name: 'translations',
  transform(code, id) {
    if (!id.endsWith('.po')) return null;
    const entries = PO.parse(code)
      .items.map(({ msgid, msgstr: [translation] }) => [msgid, compileMessage(translation || msgid)] as const)
      .sort(([a], [b]) => (a < b ? -1 : 1));
    const texts =
      basename(id) === 'en.po'
        ? entries.filter(([text, tokens]) => JSON.stringify(tokens) !== JSON.stringify(compiled(text)))
        : entries;
    const json = JSON.stringify(Object.fromEntries(texts));
    // Large texts are parsed faster as JSON.
    return { code: `export const messages = JSON.parse(${JSON.stringify(json)});`, map: null, moduleType: 'js' };
  },
};
