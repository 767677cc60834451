import { createRequire } from 'node:module';

/** Of the package that this is part of. */
export const parleyVersion = (): string =>
  (createRequire(import.meta.url)('../package.json') as { readonly version: string }).version;
