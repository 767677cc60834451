const { default: Sequencer } = require('@jest/test-sequencer');

/** Suites that take half a minute or more, though their files are small: Jest starts large files first. */
const LONG =
  /\/(bench|client-sync|contracts|descriptors|every-cut|generated-client|getting-started|hostile-(cards|mails)|large-units|killed-import|limits|outbox-crash|package|partial-state|random-history|search-proposals|simulate|two-worlds|worst-input)\.test\.ts$/;

/** Starts long suites first, so that no worker waits for one at the end. */
module.exports = class extends Sequencer {
  sort(tests) {
    const sorted = super.sort(tests);
    return [...sorted.filter(({ path }) => LONG.test(path)), ...sorted.filter(({ path }) => !LONG.test(path))];
  }
};
