// Folders of pictures whose classes are not the model's.
#include "tests/commands/desk.h"
#include "tests/images/encode.h"

namespace winnow {
namespace {

// A desk with pictures of these classes.
Outcome run_on(const std::vector<std::string>& classes, const std::vector<std::string>& names) {
  DeployedModel model = golden_model();
  model.classes = names;
  const Desk desk(model);
  for (const std::string& name : classes) {
    write_bytes(desk.file("pictures/test/" + name + "/0.png"), png_bytes(smooth_picture(3, 3, 1)));
  }
  return desk.run("run", "--data folder:" + desk.file("pictures") + " --device cpu --quiet");
}

TEST_CASE("run refuses labels that are not those of the model's outputs") {
  const std::vector<std::string> names = {"no", "yes"};
  CHECK(run_on({"no", "yes"}, names).status == 0);
  CHECK(run_on({"n1", "n2"}, names).status == 0);  // other names of the same classes
  check_refusal(run_on({"yes", "zebra"}, names), 2,
                {"/pictures: class 'yes' has number 1 in ", "m.wnw', 0 in the data"});
  check_refusal(run_on({"a", "b", "c"}, names), 2,
                {"/pictures: the data has 3 classes, the network in ", "m.wnw' tells 2 apart"});
  check_refusal(run_on({"a"}, {}), 2, {"the data has 1 classes"});
}

}  // namespace
}  // namespace winnow
