import { runTestFiles } from '@parley/testkit/suites';

runTestFiles(__dirname, 1, 2);
