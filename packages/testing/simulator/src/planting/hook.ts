import { readFile } from 'node:fs/promises';
import type { LoadHook } from 'node:module';
import { fileURLToPath } from 'node:url';
import { transform } from 'esbuild';

/** Fault with the absolute path of its source. */
export interface Planting {
  readonly source: string;
  readonly text: string;
  readonly replacement: string;
}

let planting: Planting;

export function initialize(data: Planting): void {
  planting = data;
}

/** Compiles the changed source instead of loading its compiled form. */
export const load: LoadHook = async (url, context, nextLoad) => {
  const path = url.startsWith('file:') ? fileURLToPath(url) : '';
  if (path.replace('/dist/', '/src/').replace(/\.js$/, '.ts') !== planting.source) return nextLoad(url, context);
  const text = await readFile(planting.source, 'utf8');
  const code = text.replace(planting.text, () => planting.replacement);
  const tsconfigRaw = { compilerOptions: { experimentalDecorators: true } };
  const { code: source } = await transform(code, { loader: 'ts', format: 'esm', target: 'es2022', tsconfigRaw });
  return { format: 'module', source, shortCircuit: true };
};
