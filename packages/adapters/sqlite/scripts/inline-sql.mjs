import { pathToFileURL } from 'node:url';

/** esbuild plugin that inlines the `.sql` files into the bundle. */
export const inlineSql = {
  name: 'inline-sql',
  setup({ onLoad }) {
    onLoad({ filter: /[\\/](sqlite|postgres)[\\/]dist[\\/]engine[\\/]sql-texts\.js$/ }, async ({ path }) => {
      const { SQL_TEXTS } = await import(pathToFileURL(path));
      return { contents: `export const SQL_TEXTS = ${JSON.stringify(SQL_TEXTS)};` };
    });
  },
};
