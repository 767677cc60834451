import type { NextConfig } from 'next';

// Leaves the chat out of bundles. `output: 'standalone'` copies it as a whole.
const config: NextConfig = {
  serverExternalPackages: ['parley'],
  outputFileTracingIncludes: { '/*': ['node_modules/parley/**/*'] },
};

export default config;
