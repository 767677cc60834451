import { pathToFileURL } from 'node:url';

/** esbuild plugin that puts the texts of the `.sql` files into the bundle, which then needs none of the files. */
export const inlineSql = {
  name: 'inline-sql',
  setup({ onLoad }) {
    onLoad({ filter: /[\\/]sqlite[\\/]dist[\\/]engine[\\/]sql-texts\.js$/ }, async ({ path }) => {
      const { SQL_TEXTS } = await import(pathToFileURL(path));
      return { contents: `export const SQL_TEXTS = ${JSON.stringify(SQL_TEXTS)};` };
    });
  },
};
