// Jest's order of test files. Without the durations of an earlier run, Jest starts with the largest files, which would leave
// the long suites, whose files are small, for one worker at the end.
const { default: Sequencer } = require('@jest/test-sequencer');
const { basename } = require('node:path');

const isSuite = ({ path }) => /^all(-\d+)?\.test\.ts$/.test(basename(path));

module.exports = class extends Sequencer {
  sort(tests) {
    return super.sort(tests).sort((a, b) => Number(isSuite(b)) - Number(isSuite(a)));
  }
};
