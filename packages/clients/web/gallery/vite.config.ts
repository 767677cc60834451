import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';
import { translations } from '../translation-plugin.js';

/** The gallery, which is not part of the package. Uses React's development build, whose warnings fail the test. */
export default defineConfig({
  root: import.meta.dirname,
  base: './',
  resolve: { conditions: ['browser'] },
  define: { 'process.env.NODE_ENV': '"development"' },
  plugins: [react(), translations],
  // One script per source file: script and function names tell the test which components were rendered.
  build: { minify: false, assetsInlineLimit: 0, rollupOptions: { output: { preserveModules: true } } },
});
