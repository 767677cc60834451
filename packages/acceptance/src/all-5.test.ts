import { runTestFiles } from '@parley/testkit/suites';

runTestFiles(__dirname, 5, 8);
