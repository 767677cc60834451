import { runTestFiles } from '@parley/testkit/suites';

runTestFiles(__dirname, 2, 2);
