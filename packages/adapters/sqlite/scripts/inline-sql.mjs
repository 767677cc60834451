import { readdirSync, readFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';

/** esbuild plugin that inlines the `.sql` files into a bundle of sources or of compiled modules. */
export const inlineSql = {
  name: 'inline-sql',
  setup({ onLoad }) {
    onLoad({ filter: /[\\/](sqlite|postgres)[\\/](src|dist)[\\/]engine[\\/]sql-texts\.[jt]s$/ }, ({ path }) => {
      const sources = join(dirname(path), '../../src');
      const texts = readdirSync(sources, { recursive: true, encoding: 'utf8' })
        .filter((file) => file.endsWith('.sql'))
        .map((file) => [basename(file), readFileSync(join(sources, file), 'utf8')]);
      return { contents: `export const SQL_TEXTS = ${JSON.stringify(Object.fromEntries(texts))};` };
    });
  },
};
