import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const PACKAGES = fileURLToPath(new URL('../../../../', import.meta.url));

/** Absolute path of a source, given below `packages` or `packages/adapters`. */
export function sourceOf(file: string): string {
  const path = `${PACKAGES}${file}`;
  return existsSync(path) ? path : `${PACKAGES}adapters/${file}`;
}
