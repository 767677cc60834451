import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Plugin } from 'vite';

const src = (file: string) => join(import.meta.dirname, 'src/kit', file);

/** Names of the icons that right-to-left languages mirror. */
const MIRRORED: ReadonlySet<string> = new Set(
  [...readFileSync(src('kit.module.css'), 'utf8').matchAll(/\.lucide-([\w-]+)/g)].map(([, name]) => name!),
);

/** Takes only the shapes from the icon library: draws them by `src/kit/icon.ts`, and removes unneeded names. */
export const icons: Plugin = {
  name: 'icons',
  enforce: 'pre',
  resolveId: {
    filter: { id: /\/createLucideIcon\.mjs$/ },
    handler: () => src('icon.ts'),
  },
  transform: {
    filter: { id: /lucide-react/ },
    handler: (code) => ({
      code: code
        // React keys, which no list needs.
        .replaceAll(/,\s*(?:key: "\w+"|aliases: \[[^\]]*\])/g, '')
        .replace(/name: "([\w-]+)"/, (_, name) => `name: "${MIRRORED.has(name) ? `lucide-${name}` : ''}"`),
      map: null,
    }),
  },
};
