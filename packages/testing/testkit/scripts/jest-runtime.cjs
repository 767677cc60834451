// Jest's runtime, except that the test files of a worker share resolved paths, transformed sources and compiled
// scripts. Each test file still runs every module in a separate context. Jest itself would resolve, read and compile
// again for each file.
const { dirname } = require('node:path');
const { Script } = require('node:vm');
const { default: Runtime } = require('jest-runtime');
const SharedByTestFiles = require('./shared-by-test-files.cjs');

/** Caches of each resolver, which Jest replaces when files change. */
const caches = new WeakMap();

/** Returns the value for the key, which it computes once. */
function once(map, key, compute) {
  const known = map.get(key);
  if (known !== undefined) return known;
  const value = compute();
  map.set(key, value);
  return value;
}

module.exports = class extends Runtime {
  constructor(config, environment, resolver, ...rest) {
    super(config, environment, resolver, ...rest);
    const { paths, sources, scripts, shared } = once(caches, resolver, () => ({
      paths: new Map(),
      sources: new Map(),
      scripts: new Map(),
      shared: new SharedByTestFiles(),
    }));
    environment.global.sharedByTestFiles = shared;
    const { executor, transformCache, _resolution: resolution } = this;

    for (const method of ['resolveCjs', 'getCjsMockModule']) {
      const resolve = resolution[method].bind(resolution);
      resolution[method] = (from, name) =>
        name ? once(paths, `${method} ${dirname(from)} ${name}`, () => resolve(from, name)) : resolve(from, name);
    }

    const transform = transformCache.transform.bind(transformCache);
    transformCache.transform = (path, options) => {
      const source = once(sources, path, () => {
        const code = transform(path, options);
        return transformCache.transforms.get(path) ?? { code };
      });
      transformCache.transforms.set(path, source);
      if (source.sourceMapPath) transformCache.sourceMaps.set(path, source.sourceMapPath);
      return source.code;
    };

    const parameters = executor.injectedModuleParameters.join(', ');
    executor.compile = (code, filename) => {
      const context = environment.getVmContext();
      if (context === null) return null;
      return once(
        scripts,
        filename,
        () => new Script(`(function (${parameters}) {${code}\n})`, { filename }),
      ).runInContext(context);
    };
  }
};
