import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';

const document = readFileSync(resolve(__dirname, '../../../../docs/realm-settings.md'), 'utf8');

/** Readers of each setting and permission, as documented in docs/realm-settings.md. */
export const DOCUMENTED_READERS: readonly (readonly [name: string, reader: string])[] = [
  ...document.matchAll(/^\| `(\w+)` +\| (.+?) +\|$/gm),
].map(([, name, reader]) => [name!, reader!]);

/** Settings documented as unused by the server, or used only by clients. */
export const SETTINGS_WITHOUT_READER: readonly string[] = DOCUMENTED_READERS.filter(
  ([, reader]) => !reader.startsWith('`'),
).map(([name]) => name);
