import type { ValidateFunction } from 'ajv/dist/2020.js';

/** Values that the test files of a Jest worker share (`testkit/scripts/shared-by-test-files.cjs`). */
export const { sharedByTestFiles } = globalThis as unknown as {
  readonly sharedByTestFiles: {
    readonly values: Map<string, string | Uint8Array>;
    validatorOf(schema: string): ValidateFunction;
  };
};
