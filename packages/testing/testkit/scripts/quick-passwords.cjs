// Applied to every test file (jest.config.ts): one password hash at the cost for production takes 180 ms of CPU. A hash names
// its cost, so other processes verify these hashes too.
jest.mock('@parley/node-adapters', () => {
  const adapters = jest.requireActual('@parley/node-adapters');
  return {
    ...adapters,
    ScryptPasswordHasher: class extends adapters.ScryptPasswordHasher {
      constructor(parameters = { ln: 4, p: 1 }) {
        super(parameters);
      }
    },
  };
});
