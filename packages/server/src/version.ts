import { createRequire } from 'node:module';

/** Returns the version of this package. */
export const parleyVersion = (): string =>
  (createRequire(import.meta.url)('../package.json') as { readonly version: string }).version;
