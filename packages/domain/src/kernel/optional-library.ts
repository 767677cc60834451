/** Error for a missing library or binary. `message` is one line with the command that installs it. */
export class MissingLibrary extends Error {
  constructor(message: string, cause: unknown) {
    super(message, { cause });
    this.name = 'MissingLibrary';
  }
}

/**
 * Runs `load`, which imports libraries needed only for `setting`. `libraries` are the arguments of `npm install`,
 * separated by spaces. @throws MissingLibrary
 */
export function loadOptional<T>(libraries: string, setting: string, load: () => T): T {
  const refuse = (error: unknown): never => {
    throw isMissing(libraries.split(' '), error) ? notInstalled(setting, libraries, error) : error;
  };
  try {
    const loaded = load();
    return loaded instanceof Promise ? (loaded.then(exportsOf, refuse) as T) : loaded;
  } catch (error) {
    return refuse(error);
  }
}

const notInstalled = (setting: string, libraries: string, cause: unknown) =>
  new MissingLibrary(`${setting} needs a library that is not installed. Run: npm install ${libraries}`, cause);

/**
 * Runs `load`, which loads the binary of `library`. Its install script makes the binary, and package managers run such
 * scripts only if they are allowed. @throws MissingLibrary
 */
export function loadBinary<T>(library: string, load: () => T): T {
  try {
    return load();
  } catch (error) {
    if (!(error as Error).message.startsWith('Could not locate the bindings file')) throw error;
    throw new MissingLibrary(
      `${library} has no binary because its install script did not run. Allow the script with your package manager: ` +
        `npm approve-scripts ${library} && npm rebuild ${library}; pnpm approve-builds ${library}; ` +
        `npm pkg set dependenciesMeta.${library}.built=true --json && yarn rebuild ${library}; bun pm trust ${library}`,
      error,
    );
  }
}

/** Major version of better-sqlite3 whose binaries end a process without `DRIVER_NODE_API`. */
const PREBUILT_DRIVER = 13;
/** Node-API version of Node 22.14 and later. */
const DRIVER_NODE_API = 10;

/**
 * Rejects a version of better-sqlite3 whose binary would end this process, before it is loaded. `driver` is its version,
 * `nodeApi` that of this process. @throws MissingLibrary
 */
export function requireLoadableDriver(driver: string, nodeApi: string | undefined): void {
  if (Number.parseInt(driver, 10) < PREBUILT_DRIVER || Number(nodeApi) >= DRIVER_NODE_API) return;
  throw new MissingLibrary(
    `better-sqlite3 ${driver} needs Node 22.14 or newer. Run: npm install better-sqlite3@12, or use Node 22.14 or newer`,
    null,
  );
}

/** Bundles expose the exports of CommonJS libraries only as their default export. */
const exportsOf = (loaded: object): unknown =>
  'default' in loaded && Object.keys(loaded).length === 1 ? loaded.default : loaded;

/** Returns false for an installed library without its own dependencies, which needs another command. */
function isMissing(libraries: readonly string[], error: unknown): boolean {
  const { code, message = '' } = error as { readonly code?: unknown; readonly message?: string };
  return (
    (code === 'MODULE_NOT_FOUND' || code === 'ERR_MODULE_NOT_FOUND') &&
    libraries.some((library) => message.includes(`'${library}'`) || message.includes(`'${library}/`))
  );
}
