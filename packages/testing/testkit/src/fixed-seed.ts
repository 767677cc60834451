import fc from 'fast-check';

// Applied to every test file (jest.config.ts): property tests use the same values each time, so that only changes cause
// failures. `PARLEY_TEST_SEED=2 npm test` uses other values.
fc.configureGlobal({ seed: Number(process.env.PARLEY_TEST_SEED ?? 1) });
