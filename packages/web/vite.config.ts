import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';
import { lingui } from '@lingui/vite-plugin';
import react from '@vitejs/plugin-react';
import { defineConfig, type Plugin } from 'vite';

const OUT = 'dist/app';
const ASSETS = 'web';

/** Removes unused files and writes compressed copies, which the server sends to browsers that accept them. */
const pack: Plugin = {
  name: 'pack',
  closeBundle() {
    const folder = join(import.meta.dirname, OUT, ASSETS);
    // Former formats of KaTeX's fonts; every browser that runs the application reads woff2.
    for (const name of readdirSync(folder).filter((file) => /\.(ttf|woff)$/.test(file))) rmSync(join(folder, name));
    for (const name of readdirSync(folder).filter((file) => /\.(js|css|svg)$/.test(file))) {
      const bytes = readFileSync(join(folder, name));
      writeFileSync(join(folder, `${name}.gz`), gzipSync(bytes, { level: 9 }));
      const params = { [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length };
      writeFileSync(join(folder, `${name}.br`), brotliCompressSync(bytes, { params }));
    }
  },
};

/** Builds the application. Addresses are relative, because the server may be mounted below a path. */
export default defineConfig({
  base: './',
  plugins: [react(), lingui({ configPath: join(import.meta.dirname, 'lingui.config.ts') }), pack],
  resolve: { conditions: ['browser'] },
  build: {
    outDir: OUT,
    assetsDir: ASSETS,
    manifest: 'manifest.json',
    target: 'es2022',
    // Inlined images would need `data:` sources, and inlined modules would break the content security policy.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
  },
});
