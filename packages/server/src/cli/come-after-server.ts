import { constants, setPriority } from 'node:os';

/**
 * For commands that work long: from now on a server on the same machine goes before this process, in the threads that it has not
 * started yet as well.
 */
export const comeAfterServer = (): void => setPriority(constants.priority.PRIORITY_LOW);
