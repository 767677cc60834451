// Values that the test files of a Jest worker share, made where no test file runs: `globalThis.sharedByTestFiles`. Pass only
// texts and bytes: any other value of a test file would keep all of its modules in memory.
const { Ajv2020 } = require('ajv/dist/2020.js');

module.exports = class SharedByTestFiles {
  /** Texts and bytes by name. */
  values = new Map();
  #validators = new Map();
  #ajv = new Ajv2020({
    allErrors: true,
    allowUnionTypes: true,
    inlineRefs: false,
    code: { optimize: false },
    formats: { int64: true },
  }).addKeyword('components');

  /** Compiles a JSON schema, once for each text. */
  validatorOf(schema) {
    const known = this.#validators.get(schema);
    if (known) return known;
    const validator = this.#ajv.compile(JSON.parse(schema));
    this.#validators.set(schema, validator);
    return validator;
  }
};
