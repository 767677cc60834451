import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { build } from 'esbuild';

it('stays within 7.4 % of 35 KB as a minified and compressed bundle', async () => {
  const { outputFiles } = await build({
    entryPoints: [join(__dirname, 'index.ts')],
    alias: { '@parley/client': join(__dirname, '../../client/src/index.ts') },
    bundle: true,
    minify: true,
    format: 'esm',
    target: 'es2022',
    write: false,
  });
  expect(gzipSync(outputFiles[0]!.contents).length).toBeLessThan(35 * 1.074 * 1024);
});
