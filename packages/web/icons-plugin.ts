import { join } from 'node:path';
import type { Plugin } from 'vite';

const ICON = /\/lucide-react\/dist\/esm\/icons\/([a-z0-9-]+)\.mjs$/;
const SHAPES = /\bnode: (\[[^;]*?\])\s*(?:,\s*aliases: [^;]*)?\};/;
const BUILDER = JSON.stringify(join(import.meta.dirname, 'src/kit/icon.ts'));

/** Replaces the component builder of `lucide-react` and omits its keys, which would be 2 KB of the scripts at the start. */
export const icons: Plugin = {
  name: 'icons',
  transform(code, id) {
    const [, name] = ICON.exec(id) ?? [];
    const [, shapes] = SHAPES.exec(code) ?? [];
    if (name === undefined || shapes === undefined) return null;
    const keyless = shapes.replaceAll(/,? key: "\w+"/g, '');
    return `import { icon } from ${BUILDER}; export default icon('${name}', ${keyless});`;
  },
};
