import { join } from 'node:path';
import { build, type Metafile } from 'esbuild';

/** Bundles the client as an application ships it: one minified module. */
export async function bundleClient(): Promise<{ readonly code: string; readonly metafile: Metafile }> {
  const { outputFiles, metafile } = await build({
    entryPoints: [join(import.meta.dirname, '../../../../clients/client/src/index.ts')],
    bundle: true,
    minify: true,
    write: false,
    metafile: true,
    format: 'esm',
    platform: 'browser',
  });
  return { code: outputFiles[0]!.text, metafile };
}
