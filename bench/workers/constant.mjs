// Refuses everybody, and asks nobody.
import { refusal } from "./passthrough.mjs";

export default {
  fetch: () => refusal(),
};
