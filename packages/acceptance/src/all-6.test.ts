import { runTestFiles } from '@parley/testkit/suites';

runTestFiles(__dirname, 6, 8);
