import { TEXT_LANGUAGES } from '../../domain/src/kernel/languages.js';

export default {
  sourceLocale: 'en',
  locales: [...TEXT_LANGUAGES],
  catalogs: [
    { path: '<rootDir>/src/app/texts/{locale}', include: ['src'], exclude: ['**/managing/**', '**/refusals.ts'] },
    { path: '<rootDir>/src/managing/texts/{locale}', include: ['src/managing'] },
    { path: '<rootDir>/src/services/texts/{locale}', include: ['src/services/refusals.ts'] },
  ],
  format: 'po',
  formatOptions: { lineNumbers: false, origins: false, explicitIdAsDefault: true, printLinguiId: false },
};
