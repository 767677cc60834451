// Leaves the chat out of bundles. `output: 'standalone'` copies it as a whole.
const config = {
  serverExternalPackages: ['parley'],
  outputFileTracingIncludes: { '/*': ['node_modules/parley/**/*'] },
};

export default config;
