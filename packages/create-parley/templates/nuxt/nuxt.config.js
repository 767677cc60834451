export default defineNuxtConfig({
  compatibilityDate: '2026-11-01',
  // chat.js awaits at its top.
  nitro: { esbuild: { options: { target: 'es2022' } } },
});
