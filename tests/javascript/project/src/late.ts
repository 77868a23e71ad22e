export const late = async (calls: readonly string[]): Promise<string> => {
  await new Promise((go) => setTimeout(go, 1));
  return calls.join(' ');
};
