/** @jest-config-loader esbuild-register */
import type { Config } from 'jest';

const config: Config = {
  // Jest would leave one core idle, which is half of a small machine.
  maxWorkers: '100%',
  roots: ['<rootDir>/packages'],
  testMatch: ['**/src/**/*.test.ts'],
  testPathIgnorePatterns: ['/node_modules/', '/dist/'],
  modulePathIgnorePatterns: ['/dist/'],
  transform: {
    '^.+\\.[jt]s$': [
      '@swc/jest',
      {
        module: { type: 'commonjs' },
        jsc: {
          target: 'es2022',
          parser: { syntax: 'typescript', decorators: true },
          transform: { legacyDecorator: true, decoratorMetadata: true },
        },
      },
    ],
  },
  // ESM-only dependencies; everything else under node_modules is left as it is.
  transformIgnorePatterns: ['/node_modules/(?!(inversify|@inversifyjs)/)'],
  moduleNameMapper: {
    '^@parley/([a-z-]+)$': '<rootDir>/packages/$1/src/index.ts',
    '^@parley/([a-z-]+)/([a-z-]+)$': '<rootDir>/packages/$1/src/$2/index.ts',
    '^(\\.{1,2}/.*)\\.js$': '$1',
  },
};

export default config;
