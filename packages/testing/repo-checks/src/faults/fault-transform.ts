import swc from '@swc/jest';
import { isRuleSource, pathInDomain, withFaults } from './rule-faults.js';

type Transformer = ReturnType<typeof swc.createTransformer>;

/** Transformer of Jest that plants all faults of a rule source at once. The runner selects one. */
export default {
  createTransformer(options: Parameters<typeof swc.createTransformer>[0]): Transformer {
    const { process, getCacheKey } = swc.createTransformer(options) as Required<Transformer>;
    const planted = (code: string, path: string) => (isRuleSource(path) ? withFaults(pathInDomain(path), code) : code);
    return {
      canInstrument: false,
      process: (code, path, ...rest) => process(planted(code, path), path, ...rest),
      getCacheKey: (code, path, ...rest) => getCacheKey(planted(code, path), path, ...rest),
    };
  },
};
