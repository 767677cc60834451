import { defineConfig } from '@lingui/cli';
import { formatter } from '@lingui/format-po';
import { LANGUAGES } from './src/kit/languages.js';

export default defineConfig({
  sourceLocale: 'en',
  locales: LANGUAGES,
  catalogs: [
    { path: '<rootDir>/src/app/texts/{locale}', include: ['src'], exclude: ['**/managing/**', '**/refusals.ts'] },
    { path: '<rootDir>/src/managing/texts/{locale}', include: ['src/managing'] },
    { path: '<rootDir>/src/services/texts/{locale}', include: ['src/services/refusals.ts'] },
  ],
  format: formatter({ lineNumbers: false, origins: false, explicitIdAsDefault: true, printLinguiId: false }),
});
