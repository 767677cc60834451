import fc from 'fast-check';

// For every test file (jest.config.ts): properties are tried with the same values each time, so that a change is what makes a
// test fail. `PARLEY_TEST_SEED=2 npm test` tries others.
fc.configureGlobal({ seed: Number(process.env.PARLEY_TEST_SEED ?? 1) });
