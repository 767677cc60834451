/** Part of Vue's types that `components/element-vue.ts` extends. Applications have Vue itself. */
export interface GlobalComponents {
  readonly [name: string]: unknown;
}
